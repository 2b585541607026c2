/**
 * The rule when a call by MCP needs a claim. Text that an agent reads may talk it into anything, so it changes nothing
 * of an item that it does not hold (contract 95, MCP; contract 20, endpoints). Pure.
 */
import type { ServiceError } from '../../../kernel/errors.js';
import type { BugCaller } from '../caller.js';
import { refusal } from '../errors.js';
import type { Edit } from './edit.js';
import type { ItemDoc } from './model.js';

export const isSameValue = (a: unknown, b: unknown): boolean => JSON.stringify(a ?? null) === JSON.stringify(b ?? null);

/** Fields that change nothing of the item: a remark about it, and the proofs that let a caller in. */
const NO_CHANGE: ReadonlySet<string> = new Set(['comment', 'claim_token', 'force']);
/** Fields that the resolver of an item may still correct, until the item closes. */
const CORRECTION: ReadonlySet<string> = new Set(['resolved_in_build', 'fix_commit', 'pr_url', 'pr_state']);

/** Whether the edit needs a claim. @param description of the item, which is stored elsewhere */
export function needsClaim(item: ItemDoc, edit: Edit, caller: BugCaller, description: string | null): boolean {
  if (caller.by_tool !== true) return false;
  const now: Readonly<Record<string, unknown>> = { ...item, urgency: item.severity, description };
  const changed = Object.entries(edit).filter(
    ([field, to]) => to !== undefined && !NO_CHANGE.has(field) && !isSameValue(to, now[field]),
  );
  const resolver = item.status === 'resolved' && item.resolved_by === caller.id;
  const correction = ([field, to]: [string, unknown]): boolean =>
    CORRECTION.has(field) || (field === 'status' && to === 'open');
  return changed.length > 0 && !(resolver && changed.every(correction));
}

export const createClaimRequiredError = (): ServiceError =>
  refusal(
    'claim_required',
    'Claim the item first, and send its claim_token: a tool changes an item only under your own lease.',
  );
