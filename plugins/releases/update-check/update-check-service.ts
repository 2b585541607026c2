/**
 * Without a credential, from memory (contract 40, asking); joins texts rendered once per release.
 */
import { inject, injectable, text, type Reply, type SharedBytes } from '../../../kernel/contract/index.js';
import { notFound } from '../../../kernel/errors.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import type { ProjectInfo } from '../../../ports/domain/projects.js';
import type { Platform } from '../../../lib/formats/platform.js';
import { DEPS } from '../deps.js';
import { getLatestRelease, selectOffer } from './channel-releases.js';
import { ReleaseIndex, type ChannelSnapshot } from './release-index.js';
import type { MachineInventory } from '../../../ports/domain/machines/inventory.js';

const JSON_TYPE = 'application/json; charset=utf-8';

const MAX_CACHED_RESPONSES = 1_000;
const MAX_CACHED_RESPONSE_UNITS = 16 * 1024;

/** Valid while its sources are the same objects. */
interface CachedResponse {
  shown: ChannelSnapshot;
  require_signed: boolean;
  reply: Reply;
}

export interface UpdateCheckQuery {
  product: string;
  version: string;
  channel: string;
  platform: Platform;
  instance: string | null;
}

@injectable()
export class UpdateCheckService {
  readonly #responses = new BoundedMap<CachedResponse>({ most: MAX_CACHED_RESPONSES });

  constructor(
    @inject(ReleaseIndex) private readonly index: ReleaseIndex,
    @inject(DEPS.machines) private readonly machines: () => MachineInventory | undefined,
  ) {}

  /** @throws ServiceError not_found for an unknown product */
  check(question: UpdateCheckQuery): Reply | Promise<Reply> {
    const behind = this.index.ensureCurrent();
    return behind === null ? this.#checkLoaded(question) : behind.then(() => this.#checkLoaded(question));
  }

  #checkLoaded(question: UpdateCheckQuery): Reply | Promise<Reply> {
    const project = this.index.getProject(question.product);
    return project === null ? this.#checkNewProject(question) : this.#getResponse(question, project);
  }

  /** @throws ServiceError not_found for an unknown product */
  async getLatest(product: string, channel: string, platform: Platform): Promise<Reply> {
    await this.index.ensureCurrent();
    if (this.index.getProject(product) === null) await this.#findNewProject(product);
    const shown = this.index.getChannel(product, channel);
    const latest = getLatestRelease(shown.views[platform]);
    const json = latest === null ? undefined : shown.texts.get(latest.id)?.json;
    const head = '{"status":"success","latest":';
    return createReply(json?.embed(head, latest?.mandatory ?? false, '}') ?? `${head}null}`, json?.tag ?? '-');
  }

  async #checkNewProject(question: UpdateCheckQuery): Promise<Reply> {
    return this.#getResponse(question, await this.#findNewProject(question.product));
  }

  async #findNewProject(product: string): Promise<ProjectInfo> {
    const project = await this.index.loadProject(product);
    if (project === null) throw notFound(`product ${product}`);
    return project;
  }

  #getResponse(question: UpdateCheckQuery, { require_signed }: ProjectInfo): Reply {
    const { product, version, channel, platform, instance } = question;
    if (instance !== null && instance !== '') this.#recordMachine(question, instance);
    const shown = this.index.getChannel(product, channel);
    // A staged rollout has separate answers.
    if (shown.views[platform].partial.length > 0) return this.#buildResponse(question, shown, require_signed);
    const key = `${product} ${channel} ${platform} ${version}`;
    const given = this.#responses.get(key);
    if (given !== undefined && given.shown === shown && given.require_signed === require_signed) return given.reply;
    const reply = this.#buildResponse(question, shown, require_signed);
    const { body } = reply;
    if (typeof body === 'string' && body.length <= MAX_CACHED_RESPONSE_UNITS)
      this.#responses.set(key, { shown, require_signed, reply });
    return reply;
  }

  #recordMachine({ product, version, channel, platform }: UpdateCheckQuery, key: string): void {
    const known = platform === 'any' ? null : platform;
    const about = { name: null, version, channel, platform: known, license_id: null };
    this.machines()?.record({ source: 'update_check', project: product, key, ...about });
  }

  #buildResponse(
    { product, version, channel, platform, instance }: UpdateCheckQuery,
    shown: ChannelSnapshot,
    require_signed: boolean,
  ): Reply {
    const rolledBack = shown.releases.isRolledBack(platform, version);
    const { latest, release, mandatory } = selectOffer(shown.views[platform], version, instance, rolledBack);
    const current_withdrawn = shown.releases.isWithdrawn(platform, version);
    const head = {
      status: 'success',
      update_available: release !== null,
      require_signed,
      product,
      channel,
      platform,
      current_version: version,
      latest_version: latest?.version ?? null,
      current_withdrawn,
      signed: ((release ?? latest)?.manifest_signature ?? null) !== null,
    };
    const json = findReleaseText(shown, release);
    const before = `${JSON.stringify(head).slice(0, -1)},"release":`;
    const body = json?.embed(before, mandatory, '}') ?? `${before}null}`;
    const flags = [mandatory, current_withdrawn, require_signed].map(Number).join('');
    return createReply(body, `${json?.tag ?? '-'}.${findReleaseText(shown, latest)?.tag ?? '-'}.${flags}`);
  }
}

const findReleaseText = (shown: ChannelSnapshot, release: { id: string } | null) =>
  release === null ? undefined : shown.texts.get(release.id)?.json;

/** @param tag differs whenever the body for one request differs */
const createReply = (body: string | SharedBytes, tag: string): Reply =>
  text(body, JSON_TYPE).header('etag', `"${tag}"`).header('cache-control', 'no-cache');
