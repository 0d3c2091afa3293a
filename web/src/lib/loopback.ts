/** Addresses of loopback, for whatever invites phones. */

/** True for an address that only this machine can open; a phone that opens it reaches itself. */
export function isOwnMachine(url: string): boolean {
  return /^((.+\.)?localhost|127\.[\d.]+|0\.0\.0\.0|\[::1?\])$/.test(new URL(url).hostname)
}
