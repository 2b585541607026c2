import { text, type PageSpec } from '../../../kernel/contract.js';
import { toBugCaller } from '../caller.js';
import { toldText } from './item/told-text.js';
import { params, refOf, type PageDeps } from './shared/page-deps.js';

export const tracePages = ({ services: { lists }, deps: { ids }, baseUrl }: PageDeps): PageSpec[] => [
  {
    path: '/bugs/{ref}/trace.txt',
    title: 'Bugs',
    access: { session: 'member' },
    input: { params },
    handle: async (request) => {
      const data = await lists.detail(refOf(request), toBugCaller(request.principal), { occurrences: 1 });
      const url = `${baseUrl().replace(/\/$/, '')}/bugs/${data.item.ref}`;
      return text(toldText(data, url, ids.uuid()));
    },
  },
];
