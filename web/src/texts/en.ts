import { merge, type Catalogue } from './catalogue'

export default merge(import.meta.glob<Catalogue>(['./en/*.json', '!./en/{admin,docs}.json'], { eager: true, import: 'default' }))
