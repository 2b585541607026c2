/** Changes of the bug tracker's stored data, by number. */
import type { Migration } from '../../kernel/contract.js';
import { beginWithMasks } from './groups/earlier-keys.js';
import { composeWords, olderWords } from './store/older-words.js';
import { beginCatchUp } from './store/older-writes.js';
import { markPlaces } from './store/place-marks.js';
import { publicRefsApart } from './store/public-refs.js';

export const MIGRATIONS: readonly Migration[] = [
  {
    number: 1,
    name: 'public-refs-apart',
    run: (ctx) => publicRefsApart(ctx.collection('items'), ctx.collection('refs')),
  },
  {
    number: 2,
    name: 'searched-words',
    run: (ctx) =>
      olderWords({
        items: ctx.collection('items'),
        texts: ctx.collection('texts'),
        comments: ctx.collection('comments'),
        words: ctx.collection('words'),
        occurrences: ctx.collection('occurrences'),
        clock: ctx.clock,
        ids: ctx.ids,
        log: ctx.log,
      }),
  },
  {
    number: 3,
    name: 'place-marks',
    run: (ctx) => markPlaces(ctx.collection('items'), ctx.collection('occurrences'), ctx.log),
  },
  {
    number: 4,
    name: 'older-writes',
    run: (ctx) => beginCatchUp(ctx.collection('catchups'), ctx.clock.iso()),
  },
  {
    number: 5,
    name: 'earlier-masks',
    run: (ctx) => beginWithMasks(ctx.collection('catchups'), ctx.collection('keys')),
  },
  {
    number: 6,
    name: 'composed-words',
    run: (ctx) => composeWords({ items: ctx.collection('items'), words: ctx.collection('words') }),
  },
];
