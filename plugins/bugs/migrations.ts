/** Changes of the bug tracker's stored data, by number. */
import type { Migration } from '../../kernel/contract.js';
import { publicRefsApart } from './store/public-refs.js';

export const MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
    name: 'public-refs-apart',
    run: (ctx) => publicRefsApart(ctx.collection('items'), ctx.collection('refs')),
  },
];
