import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'

const server = 'http://127.0.0.1:8000'

export default defineConfig({
  plugins: [svelte()],
  build: {
    outDir: '../src/zataku/server/web',
    emptyOutDir: true,
    manifest: true,
    // What light-dark() needs, which the colours are written with; older ones would get it taken apart.
    target: ['chrome123', 'safari17.5', 'firefox121'],
    // The document is written by the server, which reads Vite's manifest; index.html is for `npm run dev` only.
    rolldownOptions: {
      input: { main: 'src/main.ts', overlay: 'src/overlay/main.ts' },
      output: {
        // A first visit fetches a few files and not thirty: what most pages share comes in two pieces. The overlay shares
        // the socket with them and nothing else.
        codeSplitting: {
          groups: [
            { name: 'socket', test: /src\/lib\/socket\//, priority: 1 },
            { name: 'shell', test: /node_modules\/(?!uplot)|src\/(shell|lib|texts\/catalogue)|plugin-svelte|vite\/preload/ },
            { name: 'parts', test: /src\/components\//, minShareCount: 3 },
          ],
        },
      },
    },
    // Every picture is a file of its own: it is cached for ever, and a style sheet stays small.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: {
    proxy: {
      '/api': server,
      '/openapi.json': server,
      '/qr.svg': server,
      '/socket': { target: server, ws: true },
    },
  },
  test: { include: ['src/**/*.test.ts'] },
})
