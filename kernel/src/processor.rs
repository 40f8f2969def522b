//! What the processor has.

/// Returns true if the processor has these instructions, and the kernel may use them.
#[cfg(target_arch = "x86_64")]
macro_rules! has_all {
    ($($instructions:tt),+) => {
        cfg!(not(feature = "no-avx512")) $(&& is_x86_feature_detected!($instructions))+
    };
}

#[cfg(target_arch = "x86_64")]
pub(crate) use has_all;
