import { merged, type Words } from './form'

export default merged(import.meta.glob<Words>('../../words/en/*.json', { eager: true, import: 'default' }))
