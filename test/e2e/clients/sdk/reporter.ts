/**
 * A process that reports a number of errors and ends: `reporter.js <client options> <name>
 * <count>`.
 */
import { createClient } from '../../../../clients/sdk/index.js';

const [options = '{}', name = '', count = '0'] = process.argv.slice(2);
const client = createClient(JSON.parse(options) as Parameters<typeof createClient>[0]);
for (let n = 0; n < Number(count); n++) await client.reportError({ error_message: `${name} ${n}` });
