import { merge, type Catalogue } from '../catalogue'
import shared from '../ja'

export default merge({ shared, ...import.meta.glob<Catalogue>('../ja/{admin,docs}.json', { eager: true, import: 'default' }) })
