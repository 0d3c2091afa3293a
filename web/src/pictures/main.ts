/** Shows one picture that the icons and the card for previews are taken from; never part of the pages. */

import { mount } from 'svelte'
import { loadTexts } from '../lib/texts.svelte'
import '../styles/index.css'
import Pictures from './Pictures.svelte'

await loadTexts()
mount(Pictures, { target: document.getElementById('app')! })
