import { merged, type Words } from './catalogue'

export default merged(import.meta.glob<Words>('./ja/*.json', { eager: true, import: 'default' }))
