// The gateway as the bench runs it: one chat upstream, the mock, and a database in the system's temporary folder;
// everything else as shipped.
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export default {
  connections: {
    openai: { provider: 'custom', baseUrl: `${process.env.BENCH_UPSTREAM}/v1`, wireFormat: 'chat', apiKey: 'sk-bench' },
  },
  options: { dataDir: join(tmpdir(), 'hookgate-bench') },
}
