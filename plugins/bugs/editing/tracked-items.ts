import { hash } from 'node:crypto';
import { inject, injectable } from '../../../kernel/contract/index.js';
import { invalid, notFound } from '../../../kernel/errors.js';
import type { Item, PluginComment, TrackedItems } from '../../../ports/domain/bugs.js';
import type { AgentRequest } from '../../../ports/domain/agent-requests.js';
import type { ForgeChange, LinkOutcome } from '../../../ports/domain/forge-changes.js';
import type { BugCaller } from '../caller.js';
import { DEPS } from '../deps.js';
import { cleanText } from '../../../lib/text/clean-text.js';
import type { ItemEdit } from '../item/edit.js';
import { AgentRequestService } from './agent-requests.js';
import { EditService } from './edits.js';
import { ForgeChangeService } from './forge-changes.js';
import { PullRequestReviewService } from './reviews.js';
import { ItemService } from '../store/item-service.js';
import { MAX_COMMENT_LENGTH, type ItemDoc, type CommentDoc } from '../item/model.js';
import { SecretGuard } from '../store/secret-guard.js';
import type { Collection } from '../../../ports/store/index.js';

const MAX_KEY_LENGTH = 200;
const MAX_LINK_KEY_LENGTH = 1000;
const MAX_ACTOR_LENGTH = 100;
const MAX_BUILD_LENGTH = 200;

type ResolveOptions = NonNullable<Parameters<TrackedItems['resolve']>[1]>;

class AlreadyDoneError extends Error {
  override name = 'Done';
}

@injectable()
export class TrackedItemsFactory {
  constructor(
    @inject(DEPS.comments) private readonly comments: Collection<CommentDoc>,
    @inject(ItemService) private readonly items: ItemService,
    @inject(EditService) private readonly edits: EditService,
    @inject(ForgeChangeService) private readonly changes: ForgeChangeService,
    @inject(PullRequestReviewService) private readonly reviews: PullRequestReviewService,
    @inject(AgentRequestService) private readonly requests: AgentRequestService,
    @inject(SecretGuard) private readonly secrets: SecretGuard,
  ) {}

  createForPlugin(plugin: string): TrackedItems {
    return {
      get: (name) => this.#get(name),
      comment: (name, comment) => this.#comment(plugin, name, comment),
      resolve: (name, how = {}) => this.#resolve(plugin, name, how),
      linkChange: (name, change) => this.#link(plugin, name, change),
      followPullRequest: (project, url, actor) =>
        this.reviews.applyToItems(project, url, toPluginCaller(plugin, actor)),
      requestAgent: (name, request) => this.#request(plugin, name, request),
      rejectSecrets: (fields) => this.secrets.rejectSecrets(fields),
    };
  }

  async #get(name: string): Promise<Item | null> {
    const item = await this.items.find(name);
    return item === null ? null : this.items.toView(item);
  }

  /**
   * The id derives from the comment's key. A comment enters `comments` before it leaves the outbox,
   * so a plan that finds it in neither loses against a concurrent call and is repeated.
   */
  async #comment(plugin: string, name: string, given: PluginComment): Promise<{ id: string; created: boolean }> {
    const body = parseText('body', given.body, MAX_COMMENT_LENGTH);
    const key = parseText('key', given.key, MAX_KEY_LENGTH);
    const caller = toPluginCaller(plugin, given.actor);
    await this.secrets.rejectSecrets({ body, actor: caller.name });
    const item = await this.#requireItem(name);
    const id = hash('sha256', [plugin, item.id, key].join('\u001f')).slice(0, 40);
    let created = false;
    await this.items.change(item.id, caller.name, async (now, change) => {
      created = !now.outbox.some((entry) => entry.id === id) && (await this.comments.get(id)) === null;
      if (created) change.addComment(body, 'integration', id);
    });
    return { id, created };
  }

  async #resolve(plugin: string, name: string, { build, comment, actor }: ResolveOptions): Promise<Item> {
    const caller = toPluginCaller(plugin, actor);
    const edit: ItemEdit = { status: 'resolved' };
    if (build) edit.resolved_in_build = parseText('build', build, MAX_BUILD_LENGTH);
    if (comment) edit.comment = parseText('comment', comment, MAX_COMMENT_LENGTH);
    await this.secrets.rejectSecrets({ actor: caller.name });
    try {
      return await this.edits.edit(name, caller, edit, undefined, (item) => {
        if (isFixed(item, edit.resolved_in_build)) throw new AlreadyDoneError();
      });
    } catch (error) {
      if (!(error instanceof AlreadyDoneError)) throw error;
      return this.items.toView(await this.#requireItem(name));
    }
  }

  async #link(plugin: string, name: string, change: ForgeChange): Promise<LinkOutcome> {
    parseText('key', change.key, MAX_LINK_KEY_LENGTH);
    return this.changes.applyChange(name, toPluginCaller(plugin, change.actor), change);
  }

  async #request(plugin: string, name: string, request: AgentRequest): Promise<boolean> {
    const agent = parseText('agent', request.agent, MAX_ACTOR_LENGTH);
    parseText('key', request.key, MAX_KEY_LENGTH);
    return this.requests.requestAgent(name, toPluginCaller(plugin, request.actor), { ...request, agent });
  }

  /** @throws ServiceError not_found */
  async #requireItem(name: string): Promise<ItemDoc> {
    const item = await this.items.find(name);
    if (item === null) throw notFound(`issue ${name.slice(0, 100)}`);
    return item;
  }
}

function toPluginCaller(plugin: string, actor: string | null | undefined): BugCaller {
  const id = `plugin:${plugin}`;
  const name = actor ? `${parseText('actor', actor, MAX_ACTOR_LENGTH)} (${id})` : id;
  return { id, name, project: null, manage: true, kind: 'system' };
}

/** @throws ServiceError validation_failed */
function parseText(field: string, given: string, longest: number): string {
  const text = cleanText(given);
  if (text.trim() === '') throw invalid({ [field]: 'must not be empty' });
  if (text.length > longest) throw invalid({ [field]: `must be at most ${longest} characters` });
  return text;
}

const isFixed = ({ status, resolved_in_build }: ItemDoc, build: string | null | undefined): boolean =>
  status === 'closed' || (status === 'resolved' && (build === undefined || build === resolved_in_build));
