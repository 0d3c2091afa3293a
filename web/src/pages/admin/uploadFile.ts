import { offlineError, readResponse } from '../../lib/api'

/** Upload a file with progress from 0 to 1, which `fetch` does not report. */
export function uploadFile(url: string, file: File, onprogress: (share: number) => void): Promise<void> {
  return new Promise((resolve, reject) => {
    const upload = new XMLHttpRequest()
    upload.open('POST', url)
    upload.setRequestHeader('Accept', 'application/json')
    upload.setRequestHeader('Content-Type', 'application/octet-stream')
    upload.upload.onprogress = ({ loaded, total }) => onprogress(total ? loaded / total : 0)
    upload.onerror = () => reject(offlineError())
    upload.onload = () => {
      const headers = { 'Retry-After': upload.getResponseHeader('Retry-After') ?? '' }
      readResponse(new Response(upload.responseText || null, { status: upload.status, statusText: upload.statusText, headers })).then(() => resolve(), reject)
    }
    upload.send(file)
  })
}
