import joi from 'joi';
import { withSchemaName, whole } from '../../../kernel/contract/index.js';

const instant = joi.string().isoDate();
const text = joi.string().allow(null, '');

const sighting = withSchemaName(
  'ReleaseSighting',
  whole({
    version: joi.string(),
    published_at: instant.description('When it was first published, on any platform'),
    seconds_after: joi
      .number()
      .integer()
      .description('From publishing to the report; negative if the report came first'),
  }),
);
const suspect = withSchemaName(
  'SuspectCommit',
  whole({
    id: joi.string().description('Its hash'),
    author_name: text,
    timestamp: instant.allow(null),
    message: joi.string().allow('').description('The first line'),
    files: joi.array().items(joi.string()),
    touched: text.description('The file of the stack trace that it changed; null if none is known'),
    untrusted_fields: joi.array().items(joi.string()).description('Texts by the commit’s author'),
  }),
);

export const timelineShape = {
  first_release: sighting.allow(null).description('The release of `first_build`; null if it was not published'),
  regressed_release: sighting.allow(null).description('The release of `regressed_in_build`, at the latest regression'),
  suspect_commits: joi
    .array()
    .items(suspect)
    .description(
      'Commits reported by the publisher of that version (of the latest regression, else of the first report): ' +
        'those that changed a file of the trace first, starting with the failing file; at most ten',
    ),
};
