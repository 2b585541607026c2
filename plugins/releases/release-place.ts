/** A valid name is one path segment, and no two places share a file (contract 40, versions). */
import { createHash } from 'node:crypto';
import { invalid, invalidQuery, type ServiceError } from '../../kernel/errors.js';
import { normalizeVersion, isVersion, stripBuildMetadata } from '../../lib/versions.js';
import { isPlatform, PLATFORMS, type Platform } from '../../lib/formats/platform.js';

export const SLUG_PATTERN = /^[a-z0-9][a-z0-9._-]{0,63}$/;
export const MAX_VERSION_LENGTH = 200;
export const MAX_QUERY_VERSION_LENGTH = 1_000;
/** It would collide with the product's own document. */
const RESERVED_CHANNEL = 'latest.json';

export const VERSION_RULE = 'must be a version such as 1.4.2 or 2.0.0-rc.1';
export const PLATFORM_RULE = `must be one of ${PLATFORMS.join(', ')}`;
export const CHANNEL_RULE = 'must be lower case letters, digits, dots, hyphens and underscores, at most 64';

export const isChannel = (text: string): boolean => SLUG_PATTERN.test(text) && text !== RESERVED_CHANNEL;

/** @throws ServiceError validation_failed on every route (contract 40, versions) */
export function checkVersion(text: string, field = 'version', length = MAX_VERSION_LENGTH): string {
  const version = stripBuildMetadata(text);
  if (text.length > length || !isVersion(version)) throw invalid({ [field]: VERSION_RULE });
  return version;
}

/** @throws ServiceError validation_failed on every route */
export function checkPlatform(text: string): Platform {
  if (!isPlatform(text)) throw invalid({ platform: PLATFORM_RULE });
  return text;
}

/** @param refuse `invalid` for a body, `invalidQuery` for a query */
export function checkChannel(
  text: string,
  refuse: (fields: Record<string, string>) => ServiceError = invalidQuery,
  field = 'channel',
): string {
  if (!isChannel(text)) throw refuse({ [field]: CHANNEL_RULE });
  return text;
}

export const formatReleaseName = ({
  product,
  version,
  channel,
  platform,
}: Record<'product' | 'version' | 'channel' | 'platform', string>): string =>
  `${product} ${version} (${channel}, ${platform})`;

const hashNames = (...names: string[]): string =>
  createHash('sha256').update(names.join('\u001f')).digest('hex').slice(0, 40);

export const getReleaseId = (product: string, channel: string, version: string, platform: Platform): string =>
  hashNames(product, channel, normalizeVersion(version), platform);

export const getChannelId = (product: string, channel: string): string => hashNames(product, channel);

export const hashText = (text: string): string => createHash('sha256').update(text).digest('hex');
