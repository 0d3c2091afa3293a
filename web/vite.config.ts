import { svelte } from '@sveltejs/vite-plugin-svelte'
import { defineConfig } from 'vitest/config'
import { appManifest } from './scripts/appManifest.mjs'
import { SYSTEMS } from './src/generated.ts'

const server = 'http://127.0.0.1:8000'

export default defineConfig({
  plugins: [svelte(), appManifest(SYSTEMS)],
  build: {
    outDir: '../src/zataku/server/web',
    emptyOutDir: true,
    manifest: true,
    // The oldest browsers with light-dark(), which would be transpiled for older ones.
    target: ['chrome123', 'safari17.5', 'firefox121'],
    // The server writes the document from Vite's manifest; index.html is for `npm run dev` only.
    rolldownOptions: {
      input: { main: 'src/main.ts', overlay: 'src/overlay/main.ts' },
      output: {
        // Shared code is in a few chunks, so that a first visit needs few requests. The overlay shares only that of the socket.
        codeSplitting: {
          groups: [
            { name: 'socket', test: /src\/lib\/(socket\/|loopback)/, priority: 1 },
            { name: 'shell', test: /node_modules\/(?!uplot)|src\/(shell|lib(?!\/userAgent)|texts\/catalogue)|plugin-svelte|vite\/preload/ },
            { name: 'components', test: /src\/components\//, minShareCount: 3 },
          ],
        },
      },
    },
    // Pictures are files of their own, which are cached for ever.
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
