import { merge, type Catalogue } from '../catalogue'
import shared from '../ko'

export default merge({ shared, ...import.meta.glob<Catalogue>('../ko/{admin,docs}.json', { eager: true, import: 'default' }) })
