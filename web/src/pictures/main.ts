/** Entry of pictures.html, which the icons and the preview card are rendered from; not part of the app. */

import { mount } from 'svelte'
import { loadTexts } from '../lib/texts.svelte'
import '../styles/index.css'
import Pictures from './Pictures.svelte'

await loadTexts()
mount(Pictures, { target: document.getElementById('app')! })
