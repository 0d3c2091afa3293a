import { merged, type Words } from './catalogue'

export default merged(import.meta.glob<Words>('./en/*.json', { eager: true, import: 'default' }))
