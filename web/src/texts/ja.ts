import { merge, type Catalogue } from './catalogue'

export default merge(import.meta.glob<Catalogue>('./ja/*.json', { eager: true, import: 'default' }))
