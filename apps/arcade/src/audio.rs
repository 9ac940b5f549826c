//! A small synthesizer that plays recipes with the browser's audio nodes, without sound files. The
//! page owns it. Absent: which cues are played.

use std::collections::VecDeque;

use gaggle_scene::{Cue, CueId, Filter, FilterKind, Heard, Recipe, Voice, Wave};
use wasm_bindgen::JsValue;
use web_sys::{AudioBuffer, AudioContext, AudioNode, BiquadFilterType, GainNode, OscillatorType};

/// −12 dB: eight voices at once must not clip.
const MASTER: f32 = 0.25;
/// Sounds of other players are half as loud.
const OTHERS: f32 = 0.5;
/// Most sounds at once; one more ends the oldest.
const SOUNDS_MAX: usize = 12;

/// Audio output; none in a browser without audio.
pub(crate) struct Audio {
    context: AudioContext,
    master: GainNode,
    noise: AudioBuffer,
    playing: VecDeque<(CueId, GainNode)>,
}

impl Drop for Audio {
    fn drop(&mut self) {
        let _ = self.context.close();
    }
}

impl Audio {
    /// Creates the output. Browsers allow it only after a key press or touch.
    pub(crate) fn new() -> Result<Audio, JsValue> {
        let context = AudioContext::new()?;
        let master = context.create_gain()?;
        master.gain().set_value(MASTER);
        master.connect_with_audio_node(&context.destination())?;
        let rate = context.sample_rate();
        let noise = context.create_buffer(1, rate as u32, rate)?;
        let mut random = gaggle::Prng::new(1);
        let samples: Vec<f32> =
            (0..rate as u32).map(|_| random.below(65_536) as f32 / 32_768.0 - 1.0).collect();
        noise.copy_to_channel(&samples, 0)?;
        Ok(Audio { context, master, noise, playing: VecDeque::new() })
    }

    /// Resumes if the browser has suspended it, or has not let it start.
    pub(crate) fn wake(&self) {
        // Without effect where it is running.
        let _ = self.context.resume();
    }

    /// Sets the volume, from 0 to 1.
    pub(crate) fn set_loudness(&self, loudness: f32) {
        self.master.gain().set_value(MASTER * loudness);
    }

    /// Executes a [`Hearing`](gaggle_scene::Hearing) result. A sound that cannot be created is left
    /// out.
    pub(crate) fn hear(&mut self, heard: Heard, recipes: &[Recipe]) {
        match heard {
            Heard::Start(cue) => {
                if let Some(recipe) = recipes.get(usize::from(cue.recipe)) {
                    let _ = self.play(&cue, recipe);
                }
            }
            Heard::Fade(id) => {
                let now = self.context.current_time();
                for (_, gain) in self.playing.iter().filter(|(playing, _)| *playing == id) {
                    let _ = gain.gain().linear_ramp_to_value_at_time(0.0, now + 0.01);
                }
            }
            Heard::Skip(_) => {}
        }
    }

    fn play(&mut self, cue: &Cue, recipe: &Recipe) -> Result<(), JsValue> {
        let gain = self.context.create_gain()?;
        gain.gain().set_value(if cue.own { 1.0 } else { OTHERS });
        let pan = self.context.create_stereo_panner()?;
        pan.pan().set_value(f32::from(cue.pan) / 100.0);
        gain.connect_with_audio_node(&pan)?;
        pan.connect_with_audio_node(&self.master)?;
        // The same cue sounds the same on every screen.
        let spread = (cue.id.frame.wrapping_mul(2_654_435_761) >> 16) as f32 / 32_768.0 - 1.0;
        let pitch = 1.0 + recipe.spread * spread;
        for voice in recipe.voices {
            self.voice(voice, pitch, &gain)?;
        }
        if self.playing.len() == SOUNDS_MAX
            && let Some((_, oldest)) = self.playing.pop_front()
        {
            let _ = oldest.disconnect();
        }
        self.playing.push_back((cue.id, gain));
        Ok(())
    }

    fn voice(&self, voice: &Voice, pitch: f32, out: &AudioNode) -> Result<(), JsValue> {
        let start = self.context.current_time() + f64::from(voice.envelope.start) / 1_000.0;
        let attack = start + f64::from(voice.envelope.attack) / 1_000.0;
        let end = start + f64::from(voice.envelope.length.max(1.0)) / 1_000.0;
        let envelope = self.context.create_gain()?;
        envelope.gain().set_value_at_time(0.0, start)?;
        envelope.gain().linear_ramp_to_value_at_time(voice.envelope.gain, attack)?;
        envelope.gain().linear_ramp_to_value_at_time(0.0, end)?;
        envelope.connect_with_audio_node(out)?;
        let target: AudioNode = match &voice.filter {
            Some(filter) => self.filter(filter, start, end, &envelope)?,
            None => envelope.into(),
        };
        let kind = match voice.wave {
            Wave::Noise => {
                let source = self.context.create_buffer_source()?;
                source.set_buffer(Some(&self.noise));
                source.set_loop(true);
                source.connect_with_audio_node(&target)?;
                source.start_with_when(start)?;
                #[allow(deprecated, reason = "the one on the base class is not bound")]
                return source.stop_with_when(end);
            }
            Wave::Sine => OscillatorType::Sine,
            Wave::Triangle => OscillatorType::Triangle,
            Wave::Square => OscillatorType::Square,
            Wave::Saw => OscillatorType::Sawtooth,
        };
        let source = self.context.create_oscillator()?;
        source.set_type(kind);
        source.frequency().set_value_at_time(voice.from * pitch, start)?;
        source.frequency().linear_ramp_to_value_at_time(voice.to * pitch, end)?;
        if voice.vibrato > 0.0 {
            let waver = self.context.create_oscillator()?;
            let depth = self.context.create_gain()?;
            waver.frequency().set_value(voice.vibrato);
            depth.gain().set_value(voice.from * 0.03);
            waver.connect_with_audio_node(&depth)?;
            depth.connect_with_audio_param(&source.frequency())?;
            waver.start_with_when(start)?;
            waver.stop_with_when(end)?;
        }
        source.connect_with_audio_node(&target)?;
        source.start_with_when(start)?;
        source.stop_with_when(end)
    }

    fn filter(&self, filter: &Filter, start: f64, end: f64, out: &GainNode) -> Result<AudioNode, JsValue> {
        let node = self.context.create_biquad_filter()?;
        node.set_type(match filter.kind {
            FilterKind::Low => BiquadFilterType::Lowpass,
            FilterKind::High => BiquadFilterType::Highpass,
            FilterKind::Band => BiquadFilterType::Bandpass,
        });
        node.frequency().set_value_at_time(filter.from, start)?;
        node.frequency().linear_ramp_to_value_at_time(filter.to, end)?;
        node.q().set_value(filter.q);
        node.connect_with_audio_node(out)?;
        Ok(node.into())
    }
}
