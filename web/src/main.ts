/** The entry point: loads the texts of one language and the page of the address bar, then mounts the app. */

import { mount } from 'svelte'
import App from './App.svelte'
import { reloadWhenReachable } from './lib/reachable'
import { loadTexts } from './lib/texts.svelte'
import { startRouter } from './shell/router.svelte'
import { loadPage, matchRoute } from './shell/routes'
import { updateThemeColor } from './lib/theme.svelte'
import './styles/index.css'

import.meta.glob('./pages/*/theme.css', { eager: true })

// Both load at once; the router reports a page that fails to load. Without texts there is nothing to report with.
const page = loadPage(matchRoute(location.pathname).route).catch(() => undefined)
await Promise.all([loadTexts().catch(reloadWhenReachable), page])

const root = document.getElementById('app')!
root.replaceChildren()
mount(App, { target: root })
updateThemeColor()
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', updateThemeColor)
await startRouter()
