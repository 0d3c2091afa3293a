import { expect, test } from 'vitest'
import { isOwnMachine } from './loopback'

test('an address of loopback is that of this machine alone', () => {
  for (const host of ['127.0.0.1:8000', '127.1.2.3', 'localhost:8000', 'table.localhost', '[::1]:8000', '0.0.0.0:8000']) {
    expect(isOwnMachine(`http://${host}/l/123456`), host).toBe(true)
  }
  for (const host of ['192.168.0.12:8000', 'table.example.org', 'localhost.example.org', '[fd00::1]', '10.127.0.1']) {
    expect(isOwnMachine(`http://${host}/l/123456`), host).toBe(false)
  }
})
