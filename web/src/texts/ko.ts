import { merge, type Catalogue } from './catalogue'

export default merge(import.meta.glob<Catalogue>(['./ko/*.json', '!./ko/{admin,docs}.json'], { eager: true, import: 'default' }))
