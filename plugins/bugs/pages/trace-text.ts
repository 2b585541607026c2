import { text, type PageSpec } from '../../../kernel/contract/index.js';
import { toBugCaller } from '../caller.js';
import { formatItemAsText } from './item/item-text.js';
import { refParamsSchema, getRef, type PageDeps } from './shared/page-deps.js';

export const buildTraceTextPages = ({ services: { lists }, deps: { ids }, baseUrl }: PageDeps): PageSpec[] => [
  {
    path: '/bugs/{ref}/trace.txt',
    title: 'Bugs',
    access: { session: 'member' },
    input: { params: refParamsSchema },
    handle: async (request) => {
      const data = await lists.getDetail(getRef(request), toBugCaller(request.principal), { occurrences: 1 });
      const url = `${baseUrl().replace(/\/$/, '')}/bugs/${data.item.ref}`;
      return text(formatItemAsText(data, url, ids.uuid()));
    },
  },
];
