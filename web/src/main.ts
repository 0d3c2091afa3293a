/** The first thing that runs: the words of one language and the page of the address bar, then both are shown. */

import { mount } from 'svelte'
import App from './App.svelte'
import { loadTexts } from './lib/texts.svelte'
import { startRouter } from './shell/router.svelte'
import { fetchPage, routeOf } from './shell/routes'
import { updateThemeColor } from './lib/theme.svelte'
import './styles/index.css'

// Both are on their way at once; a page that does not come is told of by the router.
const page = fetchPage(routeOf(location.pathname).route).catch(() => undefined)
await Promise.all([loadTexts(), page])

const place = document.getElementById('app')!
// What the server wrote for those without JavaScript makes way.
place.replaceChildren()
mount(App, { target: place })
updateThemeColor()
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', updateThemeColor)
await startRouter()
