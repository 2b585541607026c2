/**
 * Answers update checks without a credential, from memory (contract 40, asking). Responses join
 * texts rendered once per release.
 */
import { inject, injectable, text, type Reply, type SharedBytes } from '../../../kernel/contract.js';
import { notFound } from '../../../kernel/errors.js';
import { BoundedMap } from '../../../lib/bounded-map.js';
import type { ProjectInfo } from '../../../ports/domain/projects.js';
import type { Platform } from '../../../lib/formats/platform.js';
import { getLatest, selectOffer } from './channel-releases.js';
import { ReleaseIndex, type ShownChannel } from './release-index.js';

const JSON_TYPE = 'application/json; charset=utf-8';

const KEPT = 1_000;
const KEPT_UNITS = 16 * 1024;

/** A response with its sources; it is valid while both are the same objects. */
interface Given {
  shown: ShownChannel;
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
  readonly #given = new BoundedMap<Given>({ most: KEPT });

  constructor(@inject(ReleaseIndex) private readonly index: ReleaseIndex) {}

  /** @throws ServiceError not_found for an unknown product */
  check(question: UpdateCheckQuery): Reply | Promise<Reply> {
    const behind = this.index.current();
    return behind === null ? this.#check(question) : behind.then(() => this.#check(question));
  }

  #check(question: UpdateCheckQuery): Reply | Promise<Reply> {
    const project = this.index.project(question.product);
    return project === null ? this.#checkYoung(question) : this.#answer(question, project);
  }

  /** @throws ServiceError not_found for an unknown product */
  async latest(product: string, channel: string, platform: Platform): Promise<Reply> {
    await this.index.current();
    if (this.index.project(product) === null) await this.#young(product);
    const shown = this.index.channel(product, channel);
    const latest = getLatest(shown.views[platform]);
    const json = latest === null ? undefined : shown.texts.get(latest.id)?.json;
    const head = '{"status":"success","latest":';
    return answer(json?.within(head, latest?.mandatory ?? false, '}') ?? `${head}null}`, json?.tag ?? '-');
  }

  async #checkYoung(question: UpdateCheckQuery): Promise<Reply> {
    return this.#answer(question, await this.#young(question.product));
  }

  async #young(product: string): Promise<ProjectInfo> {
    const project = await this.index.youngProject(product);
    if (project === null) throw notFound(`product ${product}`);
    return project;
  }

  #answer(question: UpdateCheckQuery, { require_signed }: ProjectInfo): Reply {
    const { product, version, channel, platform } = question;
    const shown = this.index.channel(product, channel);
    // In a staged rollout each machine gets a separate answer.
    if (shown.views[platform].partial.length > 0) return this.#made(question, shown, require_signed);
    const key = `${product} ${channel} ${platform} ${version}`;
    const given = this.#given.get(key);
    if (given !== undefined && given.shown === shown && given.require_signed === require_signed) return given.reply;
    const reply = this.#made(question, shown, require_signed);
    const { body } = reply;
    if (typeof body === 'string' && body.length <= KEPT_UNITS) this.#given.set(key, { shown, require_signed, reply });
    return reply;
  }

  #made(
    { product, version, channel, platform, instance }: UpdateCheckQuery,
    shown: ShownChannel,
    require_signed: boolean,
  ): Reply {
    const { latest, release, mandatory } = selectOffer(shown.views[platform], version, instance);
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
    const json = textOf(shown, release);
    const before = `${JSON.stringify(head).slice(0, -1)},"release":`;
    const body = json?.within(before, mandatory, '}') ?? `${before}null}`;
    const flags = [mandatory, current_withdrawn, require_signed].map(Number).join('');
    return answer(body, `${json?.tag ?? '-'}.${textOf(shown, latest)?.tag ?? '-'}.${flags}`);
  }
}

const textOf = (shown: ShownChannel, release: { id: string } | null) =>
  release === null ? undefined : shown.texts.get(release.id)?.json;

/** @param tag differs whenever the body for one request differs */
const answer = (body: string | SharedBytes, tag: string): Reply =>
  text(body, JSON_TYPE).header('etag', `"${tag}"`).header('cache-control', 'no-cache');
