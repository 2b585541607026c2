/** /hierarchy and the public status page. */
import { View, type HttpRequest } from '../../../kernel/contract.js';
import { ancestorsOf, relative, type Relative } from '../monitors/ancestry.js';
import { callerOf } from '../caller.js';
import type { MonitorDoc } from '../model.js';
import type { Services } from '../services.js';
import { treeOf } from '../monitors/status.js';
import { hrefOf } from './form.js';

/** What of the tree is wrong, and tolerated. */
interface Node {
  href: string;
  source: string;
  name: string;
  state: string;
  alarm: string;
  suppressed_by: string | null;
  parent_source: string | null;
  missing_parent: string | null;
  cycle: boolean;
  children: Node[];
}

const onCycle = (doc: MonitorDoc, family: ReadonlyMap<string, Relative>): boolean =>
  doc.parent_source !== null && family.has(doc.parent_source) && ancestorsOf(doc, family).length === 0;

export async function hierarchyView({ status }: Services, request: HttpRequest, problem?: string): Promise<View> {
  const docs = await status.all({}, callerOf(request.principal));
  const family = new Map(docs.map((doc) => [doc.source, relative(doc)]));
  const tree = treeOf<MonitorDoc, Node>(docs, (doc, children) => ({
    href: hrefOf(doc.source),
    source: doc.source,
    name: doc.name,
    state: doc.state,
    alarm: doc.alarm,
    suppressed_by: doc.suppressed_by,
    parent_source: doc.parent_source,
    missing_parent: doc.parent_source !== null && !family.has(doc.parent_source) ? doc.parent_source : null,
    cycle: onCycle(doc, family),
    children,
  }));
  const form = request.body !== null && typeof request.body === 'object' ? request.body : {};
  const cycles = docs.filter((doc) => onCycle(doc, family)).length;
  return new View('hierarchy', { tree: linesOf(tree), empty: docs.length === 0, problem, form, cycles });
}

/**
 * The tree as one list of lines: before a line so many lists begin, after it so many end. A view that called itself would
 * overflow its stack on a deep chain.
 */
function linesOf(tree: readonly Node[]): object[] {
  const lines: { node: Node; opens: boolean; closes: number[] }[] = [];
  const stack: { node: Node; ends: number }[] = tree.toReversed().map((node) => ({ node, ends: 0 }));
  while (stack.length > 0) {
    const { node, ends } = stack.pop() as { node: Node; ends: number };
    const { children } = node;
    const opens = children.length > 0;
    lines.push({ node, opens, closes: opens ? [] : Array.from({ length: ends }, (_, i) => i) });
    // The last child closes its parent's list, and every list that its parent closes.
    for (let i = children.length - 1; i >= 0; i--) {
      stack.push({ node: children[i] as Node, ends: i === children.length - 1 ? ends + 1 : 0 });
    }
  }
  return lines;
}

/** Names and states of a public monitor and what is below it; nothing that only insiders should read. */
export async function publicView({ ancestry, clock }: Services, top: MonitorDoc): Promise<View> {
  const below = await ancestry.below(top.source, 500);
  const rows = [top, ...below].map(({ name, state, last_state_change_utc, down_since_utc }) => ({
    name,
    state,
    since: state === 'down' ? down_since_utc : last_state_change_utc,
  }));
  const down = rows.filter(({ state }) => state === 'down').length;
  return new View('status', {
    title: top.name,
    heading: top.name,
    rows,
    down,
    all_up: rows.every(({ state }) => state === 'up'),
    at: clock.iso(),
    refresh_seconds: 60,
  });
}
