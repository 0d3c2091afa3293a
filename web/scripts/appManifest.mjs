// A Vite plugin that writes manifest.webmanifest, for browsers that install the site. One file serves all languages, so
// that its names are in Japanese and in English.
import { readdirSync, readFileSync } from 'node:fs'

/** @param {readonly { name: string, pages: readonly { path: string }[] }[]} systems */
export function appManifest(systems) {
  return {
    name: 'app-manifest',
    apply: 'build',
    generateBundle() {
      const source = `${JSON.stringify(manifestOf(systems), null, 2)}\n`
      this.emitFile({ type: 'asset', fileName: 'manifest.webmanifest', source })
    },
  }
}

function manifestOf(systems) {
  const [ja, en] = ['ja', 'en'].map(textsOf)
  return {
    name: '座卓 Zataku',
    short_name: '座卓',
    description: 'みんなで囲む、ひとつの卓。One low table to sit around together.',
    id: '/',
    start_url: '/',
    scope: '/',
    display: 'standalone',
    background_color: '#E9EBE0',
    theme_color: '#E9EBE0',
    icons: [
      { src: '/icons/icon-192.png', sizes: '192x192', type: 'image/png' },
      { src: '/icons/icon-512.png', sizes: '512x512', type: 'image/png' },
      { src: '/icons/maskable-512.png', sizes: '512x512', type: 'image/png', purpose: 'maskable' },
    ],
    shortcuts: systems.map(({ name, pages }) => ({
      name: [ja, en].map((texts) => texts[`system.${name}.short`] ?? name).join(' '),
      url: pages[0].path,
    })),
  }
}

function textsOf(language) {
  const folder = new URL(`../src/texts/${language}/`, import.meta.url)
  return Object.assign({}, ...readdirSync(folder).map((file) => JSON.parse(readFileSync(new URL(file, folder), 'utf8'))))
}
