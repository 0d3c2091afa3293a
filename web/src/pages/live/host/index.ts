/** The host's components as one chunk, which only a host's browser downloads. */

export { default as CommentActions } from './CommentActions.svelte'
export { default as HostPanel } from './HostPanel.svelte'
export { HostModeration } from './moderation.svelte'
export { default as PinActions } from './PinActions.svelte'
export { default as ViewSwitch } from './ViewSwitch.svelte'
