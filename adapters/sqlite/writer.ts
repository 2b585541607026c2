/** The writing worker. */
import { parentPort, workerData } from 'node:worker_threads';
import type { ConnectionOptions } from './connection/connection.js';
import { serve } from './threads/serve.js';
import { committing } from './writing/committing.js';

if (parentPort) serve(parentPort, committing(workerData as ConnectionOptions));
