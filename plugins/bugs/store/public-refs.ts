/**
 * Moves the references of old stores out of the tokens' space, from the time before intake keys had a space of their
 * own (contract 20, values): a reference that a public key has planted there must swallow no report of a token.
 *
 * Old references do not name their sender; only errors can come from keys. So the references of all errors move: an
 * item's own one into the keys' space, where an SDK's repeat still meets it, and those of further occurrences go. The
 * cost: a token's report of an error that is repeated across this change is counted once more. Rejected: keeping
 * possible references of tokens in both spaces, because then they swallow as before.
 */
import { pages } from '../../../lib/paging.js';
import type { Collection, Find } from '../../../ports/store.js';
import { hashOf } from '../item/document-ids.js';
import type { ItemDoc, RefDoc } from '../item/model.js';
import { publicRefId } from './client-refs.js';

const BATCH = 500;

/** Moves the references. After an interruption it runs again from the beginning. */
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
    // The new reference comes first: after an interruption both are there, and the next run removes the old one.
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
