import { defineConfig } from 'vite';

export default defineConfig({
  // The package's module lies beside its script.
  optimizeDeps: { exclude: ['gaggle-js'] },
  build: { target: 'es2022' },
});
