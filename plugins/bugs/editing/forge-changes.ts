/**
 * Commits and pull requests that name an item (contract 20, forges): one change of the item each, with its history
 * entry, whose id follows from the change, so that the same delivery again finds it and does nothing.
 */
import { hash } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract.js';
import { notFound } from '../../../kernel/errors.js';
import type { ForgeChange, ForgeOutcome } from '../../../ports/domain/forge-changes.js';
import type { Json } from '../../../ports/store.js';
import { Closing } from '../builds/closing.js';
import type { BugCaller } from '../caller.js';
import { DEPS, type BugDeps } from '../deps.js';
import type { ChangeSet } from '../item/change-set.js';
import { planExpiry } from '../item/lease.js';
import type { ItemDoc } from '../item/model.js';
import { allowed } from '../item/transitions.js';
import { isLive } from '../item/view.js';
import { Items } from '../store/items.js';
import { SecretGuard } from '../store/secret-guard.js';

@injectable()
export class ForgeChanges {
  constructor(
    @inject(DEPS) private readonly deps: Pick<BugDeps, 'activity' | 'clock'>,
    @inject(Items) private readonly items: Items,
    @inject(Closing) private readonly builds: Closing,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
  ) {}

  /**
   * @param name id or ref
   * @param caller the plugin, with the name of who made the change
   * @throws ServiceError not_found
   */
  async link(name: string, caller: BugCaller, given: ForgeChange): Promise<ForgeOutcome> {
    const found = await this.items.find(name);
    if (found === null) throw notFound(`item ${name.slice(0, 100)}`);
    const change = { ...given, title: await this.#shown(given.title) };
    const id = hash('sha256', [caller.id, found.id, given.key].join('\u001f')).slice(0, 40);
    let outcome: ForgeOutcome = 'unchanged';
    const doc = await this.items.change(found.id, caller.name, async (item, plan) => {
      const known = item.outbox.some((entry) => entry.id === id) || (await this.deps.activity.get(id)) !== null;
      outcome = known ? 'unchanged' : planChange(item, plan, change, { id, by: caller.id, now: this.deps.clock.now() });
    });
    await this.builds.closeIfPublished(doc);
    return outcome;
  }

  /** The title, or null for one that would publish a token of this service; the change itself still takes effect. */
  async #shown(title: string): Promise<string | null> {
    return (await this.secrets.holds(title)) ? null : title;
  }
}

type Shown = Omit<ForgeChange, 'title'> & { title: string | null };

/** Plans the change; its entry goes to the history whatever follows from it. */
function planChange(
  item: ItemDoc,
  plan: ChangeSet,
  change: Shown,
  { id, by, now }: { id: string; by: string; now: number },
): ForgeOutcome {
  const { kind, url, commit, title, state, fixes } = change;
  plan.note('linked', { kind, url, commit, title, state, fixes } satisfies { [name: string]: Json }, id);
  if (kind === 'pull_request' && url !== null && url !== item.pr_url && (fixes || !item.pr_url))
    plan.assign({ pr_url: url, trusted: item.trusted.filter((field) => field !== 'pr_url') });
  if (!fixes) return 'linked';
  const live = isLive(item.claim, now);
  if (item.status === 'in_progress' && !live) planExpiry(item, plan);
  if (!allowed(plan.next.status, 'resolved', 'patch')) {
    if (item.status === 'resolved') planCommit(plan, commit);
    return 'linked';
  }
  if (live) {
    plan.comment(heldText(change, item));
    return 'commented';
  }
  plan.fixed('resolved', { why: 'merged', build: plan.next.resolved_in_build, commit });
  plan.assign({
    fix_commit: commit ?? plan.next.fix_commit ?? null,
    resolved_by: by,
    release_count: 0,
    trusted: plan.next.trusted.filter((field) => field !== 'fix_commit'),
  });
  return 'resolved';
}

/** Who resolved it with a pull request could not know the commit that the merge would make. */
function planCommit(plan: ChangeSet, commit: string | null): void {
  const { fix_commit: known, trusted } = plan.next;
  if (commit === null || known) return;
  plan.assign({ fix_commit: commit, trusted: trusted.filter((field) => field !== 'fix_commit') });
}

function heldText({ kind, title, url, commit }: Shown, item: ItemDoc): string {
  const what = kind === 'commit' ? `Commit ${commit?.slice(0, 12) ?? ''}` : 'A pull request';
  const named = title === null || title === '' ? '' : ` (${title})`;
  const where = url === null ? '' : `\n\n${url}`;
  const holder = item.claim?.agent ?? 'an agent';
  return `${what}${named} is on the default branch and says that it fixes this. It was not resolved, since ${holder} holds it.${where}`;
}
