/**
 * Takes the references of stores from before intake keys had a space of `client_ref` of their own out of the tokens'
 * space (contract 20, values): what a public key has planted there must swallow no report of a token.
 *
 * Who sent a reference was not stored, only that keys make nothing but errors. So the references of all errors move: an
 * item's own one into the keys' space, where an SDK's repeat still meets it, and those of further occurrences go. What
 * it costs: a token's report of an error that is repeated across this change is counted once more. Rejected: keeping
 * what a token may have sent in both spaces, because then it swallows as before.
 */
import { pages } from '../../../lib/paging.js';
import type { Collection, Find } from '../../../ports/store.js';
import { hashOf } from '../item/document-ids.js';
import type { ItemDoc, RefDoc } from '../item/model.js';
import { publicRefId } from './client-refs.js';

const BATCH = 500;

/** Runs again from its beginning where it was cut off. */
export async function publicRefsApart(items: Collection<ItemDoc>, refs: Collection<RefDoc>): Promise<void> {
  await moveOwn(items, refs);
  await dropOthers(items, refs);
}

async function moveOwn(items: Collection<ItemDoc>, refs: Collection<RefDoc>): Promise<void> {
  const reported = { filter: { type: 'error', client_ref: { exists: true } }, limit: BATCH };
  for await (const page of pages(items, reported)) {
    const own = new Map(page.map((item) => [hashOf(item.project, item.client_ref ?? ''), item]));
    const found = await refs.find({ filter: { id: { in: [...own.keys()] } }, limit: BATCH });
    const moving = found.items.flatMap((ref) => {
      const item = own.get(ref.id);
      return item?.id === ref.item_id ? [{ ref, to: publicRefId(item.project, item.client_ref ?? '') }] : [];
    });
    // The new one first: cut off between the two, both are there, and the next run removes the old one.
    await refs.bulk(moving.map(({ ref, to }) => ({ insert: { ...ref, id: to } })));
    await refs.bulk(moving.map(({ ref }) => ({ remove: { id: ref.id } })));
  }
}

async function dropOthers(items: Collection<ItemDoc>, refs: Collection<RefDoc>): Promise<void> {
  const repeats: Find = { filter: { expires_at: { gt: '' } }, sort: [['expires_at', 'asc']], limit: BATCH };
  for await (const page of pages(refs, repeats)) {
    const ids = [...new Set(page.map(({ item_id }) => item_id))];
    const errors = await items.find({ filter: { id: { in: ids }, type: 'error' }, limit: BATCH });
    const known = new Set(errors.items.map(({ id }) => id));
    await refs.bulk(page.filter((ref) => known.has(ref.item_id)).map(({ id }) => ({ remove: { id } })));
  }
}
