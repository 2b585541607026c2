/** Links every mentioned item and resolves what it fixes (contract 20, forges). */
import { inject, injectable } from '../../kernel/contract/index.js';
import { ServiceError } from '../../kernel/errors.js';
import { ITEMS, type TrackedItems } from '../../ports/domain/bugs.js';
import type { ForgeChange, ForgeOutcome, LinkOutcome } from '../../ports/domain/forge-changes.js';
import { findMentions } from './mentions.js';
import type { DeliveredChange } from './payloads/change.js';
import { PullRequestStore } from './pull-requests.js';

const MAX_REFS = 50;

export interface LinkResult {
  resolved: string[];
  reopened?: string[];
  commented: string[];
  linked: string[];
  /** From an earlier delivery, or not an item of this project. */
  unchanged: string[];
  left_out: number;
}

interface ItemMention {
  ref: string;
  change: DeliveredChange;
  fixes: boolean;
}

@injectable()
export class ChangeLinker {
  constructor(
    @inject(ITEMS) private readonly items: TrackedItems,
    @inject(PullRequestStore) private readonly pulls: PullRequestStore,
  ) {}

  async apply(project: string, changes: readonly DeliveredChange[]): Promise<LinkResult> {
    const named = changes.flatMap((change) => listMentions(project, change));
    // Fixes take precedence within the limit.
    const chosen = [...named.filter(({ fixes }) => fixes), ...named.filter(({ fixes }) => !fixes)].slice(0, MAX_REFS);
    const done: LinkResult = { resolved: [], commented: [], linked: [], unchanged: [], left_out: 0 };
    done.left_out = named.length - chosen.length;
    // Stored first, so that items that add the request concurrently find it.
    for (const change of changes) await this.pulls.record(project, change);
    for (const mention of chosen) addTo(done[await this.#linkItem(mention)], mention.ref);
    for (const { kind, url, author } of changes) {
      if (kind !== 'pull_request' || url === null) continue;
      for (const { ref, outcome } of await this.items.followPullRequest(project, url, author))
        addFollowed(done, ref, outcome);
    }
    return done;
  }

  async #linkItem({ ref, change, fixes }: ItemMention): Promise<LinkOutcome> {
    const { kind, url, commit, title, author, state } = change;
    const key = kind === 'commit' ? `commit ${commit}` : `pull request ${url} ${state}`;
    const forgeChange: ForgeChange = {
      key: fixes ? `${key} fixes` : key,
      kind,
      url,
      commit,
      title,
      state,
      fixes,
      actor: author,
    };
    try {
      return await this.items.linkChange(ref, forgeChange);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') return 'unchanged';
      throw error;
    }
  }
}

/** A change only fixes items once it is on the default branch. */
const listMentions = (project: string, change: DeliveredChange): ItemMention[] =>
  [...findMentions(change.text, project)].map(([ref, fixes]) => ({ ref, change, fixes: fixes && change.landed }));

function addTo(list: string[], ref: string): void {
  if (!list.includes(ref)) list.push(ref);
}

function addFollowed(done: LinkResult, ref: string, outcome: ForgeOutcome): void {
  const { linked, unchanged } = done;
  const named = [linked, unchanged].find((list) => list.includes(ref));
  if (outcome === 'unchanged' || (outcome === 'linked' && (named === linked || done.resolved.includes(ref)))) return;
  named?.splice(named.indexOf(ref), 1);
  addTo(outcome === 'reopened' ? (done.reopened ??= []) : done[outcome], ref);
}
