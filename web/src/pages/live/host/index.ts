/**
 * All that a host has, in one piece: a room fetches it with `import('./host')` when it turns out to be one's own.
 *
 * One `Moderation` belongs to a room for as long as it is open; `load` it once. `Host` is the column beside the table, or
 * what stands in a sheet; `Views` chooses what the log shows, which `pick` gives; `Actions` stand in the row of a comment.
 */

export { default as Actions } from './CommentActions.svelte'
export { default as Host } from './HostPanel.svelte'
export { Moderation } from './moderation.svelte'
export { default as Views } from './ViewSwitch.svelte'
export { pick, type View } from '../room/views'
