/** `/badge/<id>.svg`, for monitors that are `public` (contract 30, beyond the specification). */
import joi from 'joi';
import { stated, text, type RouteSpec } from '../../../kernel/contract.js';
import { notFound } from '../../../kernel/errors.js';
import { looksLikeId } from '../model/source.js';
import type { WatchdogServices } from '../services.js';
import { badgeSvg } from './badge.js';

export const badges = ({ monitors }: WatchdogServices): RouteSpec => ({
  method: 'GET',
  path: '/badge/{file}',
  operationId: 'getBadge',
  summary: 'State of a public monitor as an image: /badge/<id>.svg',
  access: 'public',
  input: { params: joi.object({ file: joi.string().max(100).required() }) },
  output: stated({ contentMediaType: 'image/svg+xml' }, joi.string()),
  handle: async (request) => {
    const [, id = ''] = /^(.+)\.svg$/.exec(request.params['file'] ?? '') ?? [];
    const monitor = looksLikeId(id) ? await monitors.find(id) : null;
    if (!monitor?.public) throw notFound('such badge');
    return text(badgeSvg(monitor.name, monitor.state), 'image/svg+xml; charset=utf-8').header(
      'cache-control',
      'public, max-age=30',
    );
  },
});
