import { merge, type Catalogue } from './catalogue'

export default merge(import.meta.glob<Catalogue>('./en/*.json', { eager: true, import: 'default' }))
