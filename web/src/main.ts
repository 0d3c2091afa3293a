/** The first thing that runs: the words of one language and the page of the address bar, then both are shown. */

import { mount } from 'svelte'
import App from './App.svelte'
import { loadWords } from './lib/texts.svelte'
import { startRouter } from './shell/router.svelte'
import { fetchPage, routeOf } from './shell/routes'
import { colourWindow } from './lib/preferences.svelte'
import './styles/index.css'

// Both are on their way at once; a page that does not come is told of by the router.
const page = fetchPage(routeOf(location.pathname).route).catch(() => undefined)
await Promise.all([loadWords(), page])

const place = document.getElementById('app')!
// What the server wrote for those without JavaScript makes way.
place.replaceChildren()
mount(App, { target: place })
colourWindow()
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', colourWindow)
await startRouter()
