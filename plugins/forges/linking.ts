/** A genuine delivery: every item that it names learns of it, and what it fixes is resolved (contract 20, forges). */
import { inject, injectable } from '../../kernel/contract.js';
import { ServiceError } from '../../kernel/errors.js';
import { ITEMS, type TrackedItems } from '../../ports/domain/bugs.js';
import type { ForgeChange, ForgeOutcome, LinkOutcome } from '../../ports/domain/forge-changes.js';
import { findMentions } from './mentions.js';
import type { Change } from './payloads/change.js';
import { PullRequestStore } from './pull-requests.js';

/** Refs of one delivery that are looked at. */
const MAX_REFS = 50;

/** What became of the refs, each in the list of what was done first; the order is that of the delivery. */
export interface LinkResult {
  resolved: string[];
  /** Waited for a pull request that was closed without a merge. */
  reopened?: string[];
  commented: string[];
  linked: string[];
  /** Known from an earlier delivery, or no item of this project. */
  unchanged: string[];
  /** Named beyond the fifty. */
  left_out: number;
}

interface Mention {
  ref: string;
  change: Change;
  fixes: boolean;
}

@injectable()
export class ChangeLinker {
  constructor(
    @inject(ITEMS) private readonly items: TrackedItems,
    @inject(PullRequestStore) private readonly pulls: PullRequestStore,
  ) {}

  async apply(project: string, changes: readonly Change[]): Promise<LinkResult> {
    const named = changes.flatMap((change) => listMentions(project, change));
    // A fix is not lost to the fifty.
    const chosen = [...named.filter(({ fixes }) => fixes), ...named.filter(({ fixes }) => !fixes)].slice(0, MAX_REFS);
    const done: LinkResult = { resolved: [], commented: [], linked: [], unchanged: [], left_out: 0 };
    done.left_out = named.length - chosen.length;
    // Stored before the items are looked up: an item that names the request meanwhile finds it.
    for (const change of changes) await this.pulls.record(project, change);
    for (const mention of chosen) addTo(done[await this.#linkItem(mention)], mention.ref);
    for (const { kind, url, author } of changes) {
      if (kind !== 'pull_request' || url === null) continue;
      for (const { ref, outcome } of await this.items.followPullRequest(project, url, author))
        addFollowed(done, ref, outcome);
    }
    return done;
  }

  /** Failing to link one item does not affect the others. */
  async #linkItem({ ref, change, fixes }: Mention): Promise<LinkOutcome> {
    const { kind, url, commit, title, author, state } = change;
    const key = kind === 'commit' ? `commit ${commit}` : `pull request ${url} ${state}`;
    const told: ForgeChange = {
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
      return await this.items.linkChange(ref, told);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'not_found') return 'unchanged';
      throw error;
    }
  }
}

/** What says that it fixes an item does so once it is on the default branch. */
const listMentions = (project: string, change: Change): Mention[] =>
  [...findMentions(change.text, project)].map(([ref, fixes]) => ({ ref, change, fixes: fixes && change.landed }));

function addTo(list: string[], ref: string): void {
  if (!list.includes(ref)) list.push(ref);
}

/** Adds what the state of the request did to an item, in place of having been named by it. */
function addFollowed(done: LinkResult, ref: string, outcome: ForgeOutcome): void {
  const { linked, unchanged } = done;
  const named = [linked, unchanged].find((list) => list.includes(ref));
  if (outcome === 'unchanged' || (outcome === 'linked' && (named === linked || done.resolved.includes(ref)))) return;
  named?.splice(named.indexOf(ref), 1);
  addTo(outcome === 'reopened' ? (done.reopened ??= []) : done[outcome], ref);
}
