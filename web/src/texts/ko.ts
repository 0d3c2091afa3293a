import { merged, type Words } from './catalogue'

export default merged(import.meta.glob<Words>('./ko/*.json', { eager: true, import: 'default' }))
