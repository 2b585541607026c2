/**
 * An agent misled by injected text may change only items that it holds (contract 95, MCP; contract
 * 20, endpoints).
 */
import type { ServiceError } from '../../../kernel/errors.js';
import type { BugCaller } from '../caller.js';
import { refusal } from '../errors.js';
import type { ItemEdit } from './edit.js';
import type { ItemDoc } from './model.js';

export const isSameValue = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

const NON_CHANGING_FIELDS: ReadonlySet<string> = new Set(['comment', 'claim_token', 'force']);
const CORRECTABLE_FIELDS: ReadonlySet<string> = new Set(['resolved_in_build', 'fix_commit', 'pr_url', 'pr_state']);

/** @param description of the item, which is stored separately */
export function needsClaim(item: ItemDoc, edit: ItemEdit, caller: BugCaller, description: string | null): boolean {
  if (caller.by_tool !== true) return false;
  const now: Readonly<Record<string, unknown>> = { ...item, urgency: item.severity, description };
  const changed = Object.entries(edit).filter(
    ([field, to]) => to !== undefined && !NON_CHANGING_FIELDS.has(field) && !isSameValue(to, now[field]),
  );
  const resolver = item.status === 'resolved' && item.resolved_by === caller.id;
  const correction = ([field, to]: [string, unknown]): boolean =>
    CORRECTABLE_FIELDS.has(field) || (field === 'status' && to === 'open');
  return changed.length > 0 && !(resolver && changed.every(correction));
}

export const createClaimRequiredError = (): ServiceError =>
  refusal(
    'claim_required',
    'Claim the item first, and send its claim_token: tools can change an item only under your own lease.',
  );
