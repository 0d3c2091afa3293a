// Fails when a package in node_modules is not the one that package-lock.json pins by version and hash.
// A build for a platform that the lock does not list is optional, and is pinned by the version its parent asks for.
import { readFileSync } from 'node:fs'

const packagesOf = (path) => JSON.parse(readFileSync(path, 'utf8')).packages
const pinned = packagesOf('package-lock.json')
const installed = Object.entries(packagesOf('node_modules/.package-lock.json'))

const different = installed.filter(([path, { version, integrity, optional }]) => {
  const entry = pinned[path]
  return entry ? entry.version !== version || entry.integrity !== integrity : !optional
})
if (different.length > 0) {
  const names = different.map(([path, { version }]) => `${path.replace('node_modules/', '')} ${version}`).join(', ')
  console.error(`package-lock.json does not pin what is installed: ${names}. Run npm install here and commit the lock.`)
  process.exit(1)
}
