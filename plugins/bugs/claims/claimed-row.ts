/**
 * An item as `action=next` shows it, rendered in the step that claims it (ports/rendering.ts), and before it the few
 * facts that the answer depends on: so the event loop passes the item on as text, and need not read it.
 */
import type { Render, Renderer } from '../../../ports/rendering.js';
import type { ItemDoc, TextsDoc } from '../item/model.js';
import { itemView } from '../item/view.js';

/** A type and no interface: it is JSON. */
export type ClaimedFacts = {
  id: string;
  project: string;
  rev: number;
  claim_count: number;
  /** The item names its repository itself. */
  located: boolean;
};

export const render: Render<ItemDoc, TextsDoc, { now: number }> = (item, texts, { now }) => {
  const { id, project, rev, claim_count } = item;
  const facts: ClaimedFacts = { id, project, rev, claim_count, located: Boolean(item.repo_url) };
  return { facts, item: itemView(item, texts, now) };
};

export const CLAIMED_ROW: Renderer = { render, module: new URL(import.meta.url) };

/** Ids, slugs and numbers cannot hold it. */
const BETWEEN = ',"item":';
const BEFORE = '{"facts":';

/** The facts, and the JSON of the item, of what was rendered. */
export function claimedOf(rendered: string): { facts: ClaimedFacts; item: string } {
  const at = rendered.indexOf(BETWEEN);
  const facts = JSON.parse(rendered.slice(BEFORE.length, at)) as ClaimedFacts;
  return { facts, item: rendered.slice(at + BETWEEN.length, -1) };
}
