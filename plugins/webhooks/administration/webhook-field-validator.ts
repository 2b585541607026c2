import { inject, injectable, type Principal } from '../../../kernel/contract/index.js';
import { denied, invalid, invalidQuery, unknownProject } from '../../../kernel/errors.js';
import { hasScope } from '../../../lib/scopes.js';
import { DEPS } from '../deps.js';
import {
  ALL_EVENTS,
  EXPLICIT_EVENTS,
  parseEventList,
  listSubscribableEvents,
  TEST_EVENT,
  type SubscribableEvent,
} from '../model/event-names.js';
import { getBoundProject } from '../model/reader-access.js';
import type { Webhook } from '../model/webhook.js';
import { WebhookSecretService } from '../sending/webhook-secret-service.js';
import type { ProjectDirectory } from '../../../ports/domain/projects.js';
import type { Outbound, EgressPolicy } from '../../../ports/outbound.js';
import type { AttemptDataProvider } from '../../../ports/domain/webhooks.js';

@injectable()
export class WebhookFieldValidator {
  constructor(
    @inject(DEPS.attemptData) private readonly attemptData: () => readonly AttemptDataProvider[],
    @inject(DEPS.outbound) private readonly outbound: Outbound,
    @inject(DEPS.policy) private readonly policy: EgressPolicy,
    @inject(DEPS.projects) private readonly projects: ProjectDirectory,
    @inject(DEPS.registered) private readonly registered: () => readonly string[],
    @inject(WebhookSecretService) private readonly secrets: WebhookSecretService,
  ) {}

  listEvents(): SubscribableEvent[] {
    return listSubscribableEvents(this.registered());
  }

  get hasSigningKey(): boolean {
    return this.secrets.canSign(null);
  }

  async listProjects(): Promise<{ value: string; label: string }[]> {
    const all = await this.projects.list();
    return all
      .map(({ slug, name }) => ({ value: slug, label: name }))
      .toSorted((a, b) => a.label.localeCompare(b.label, 'en'));
  }

  validateUrl(url: string): string {
    const reason = this.outbound.checkUrl(url, this.policy);
    if (reason !== null) throw invalid({ url: reason });
    return url;
  }

  validateEvents(given: string | string[]): string[] {
    const names = parseEventList(given);
    const known = new Set([ALL_EVENTS, ...this.listEvents().map(({ name }) => name)]);
    const unknown = names.filter((name) => !known.has(name));
    if (names.length === 0) throw invalid({ events: 'must contain at least one event, or be *' });
    if (unknown.length > 0) throw invalid({ events: `unknown: ${unknown.join(', ').slice(0, 200)}` });
    return names;
  }

  /**
   * Requires the rights of these events; otherwise a webhook token could obtain everything the
   * service publishes.
   * @throws ServiceError insufficient_scope
   */
  assertCanSubscribe(principal: Principal, events: readonly string[]): void {
    const needed = new Set(events.flatMap((event) => this.#listRequiredScopes(event)));
    if (needed.size === 0 || (principal.kind === 'session' && principal.role === 'admin')) return;
    if (principal.kind !== 'token') throw denied('Only an administrator can subscribe to events that contain a token.');
    const lacking = [...needed].filter((scope) => !hasScope(principal.scopes, scope));
    if (lacking.length > 0)
      throw denied(
        `Deliveries of this webhook contain a token, but the token of the caller lacks ${lacking.join(', ')}.`,
      );
    if (principal.agent !== undefined)
      throw denied(
        'Deliveries of this webhook contain tokens for every agent, but the token of the caller is limited to one.',
      );
  }

  #listRequiredScopes(event: string): readonly string[] {
    const made = this.attemptData().filter((maker) => maker.event === event);
    return [...(EXPLICIT_EVENTS.get(event) ?? []), ...made.flatMap(({ scopes }) => scopes)];
  }

  /** @throws ServiceError invalid_request */
  validateEventFilter(event: string | undefined): void {
    if (event === undefined || event === TEST_EVENT || this.listEvents().some(({ name }) => name === event)) return;
    throw invalidQuery({ event: 'is not an event name' });
  }

  async validateProject(principal: Principal, given: string | null): Promise<string | null> {
    const slug = given === '' ? null : given;
    assertProjectAccess(principal, slug);
    if (slug === null || (await this.projects.get(slug)) !== null) return slug;
    throw unknownProject(slug, 'project_slug');
  }

  assertSignable({ enabled, secret }: Pick<Webhook, 'enabled' | 'secret'>): void {
    if (!enabled || this.secrets.canSign(secret)) return;
    throw invalid({ secret: 'is required to enable a webhook, because security.webhook_key is not set' });
  }
}

/** @throws ServiceError insufficient_scope when the token is for another project */
function assertProjectAccess(principal: Principal, slug: string | null): void {
  const own = getBoundProject(principal);
  if (own !== null && own !== slug) throw denied(`The token is for the project ${own} only.`);
}
