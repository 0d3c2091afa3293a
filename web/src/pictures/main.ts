/** Shows one picture that the icons and the card for previews are taken from; never part of the pages. */

import { mount } from 'svelte'
import { loadWords } from '../lib/texts.svelte'
import '../styles/index.css'
import Pictures from './Pictures.svelte'

await loadWords()
mount(Pictures, { target: document.getElementById('app')! })
