// Writes a .br and a .gz beside every built file that shrinks, so that the server never compresses one itself.
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

const built = fileURLToPath(new URL('../../src/zataku/server/web/', import.meta.url))
const compressible = /\.(js|css|svg|json|webmanifest|txt)$/
const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

for (const entry of await readdir(built, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !compressible.test(entry.name) || entry.parentPath.endsWith('.vite')) continue
  const path = join(entry.parentPath, entry.name)
  const plain = await readFile(path)
  const br = await brotli(plain, {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_SIZE_HINT]: plain.length,
    },
  })
  const gz = await zip(plain, { level: constants.Z_BEST_COMPRESSION })
  if (br.length < plain.length) await writeFile(`${path}.br`, br)
  if (gz.length < plain.length) await writeFile(`${path}.gz`, gz)
}
