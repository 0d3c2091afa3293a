import { merge, type Catalogue } from './catalogue'

export default merge(import.meta.glob<Catalogue>(['./ja/*.json', '!./ja/{admin,docs}.json'], { eager: true, import: 'default' }))
