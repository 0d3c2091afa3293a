import { merge, type Catalogue } from '../catalogue'
import shared from '../en'

export default merge({ shared, ...import.meta.glob<Catalogue>('../en/{admin,docs}.json', { eager: true, import: 'default' }) })
